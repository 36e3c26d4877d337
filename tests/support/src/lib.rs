//! Starts and stops real servers for tests.
