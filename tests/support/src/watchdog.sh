# Runs a server for as long as the process that started it lives.
#
#   sh -c "$script" watchdog LOG EXIT FOLDER LOGS SERVER [ARGUMENT...]
#
# Standard input is a pipe whose other end only the test's process holds. However that process ends, also by SIGKILL,
# the pipe closes, and then the server is killed. FOLDER and LOGS, if not empty, are removed after that; LOGS stays if
# it holds a file named `keep`. EXIT gets the server's status if it ends by itself.
trap '' HUP INT TERM
log=$1 exit_file=$2 folder=$3 logs=$4
shift 4
exec 3<&0 </dev/null
"$@" >>"$log" 2>&1 3<&- &
server=$!
echo "$server"
exec >/dev/null 2>&1
(
  while read -r _; do :; done
  kill -KILL "$server"
) <&3 &
watcher=$!
wait "$server"
status=$?
kill -KILL "$watcher"
echo "$status" >"$exit_file"
# If the server ended by itself, the folders stay until the test's process lets go.
while read -r _; do :; done <&3
[ -n "$folder" ] || exit 0
[ ! -e "$logs/keep" ] || logs=$folder
# The other server of the folder may just be ending: what it still writes can make an attempt fail.
for _ in 1 2 3 4 5; do
  rm -rf -- "$folder" "$logs" && break
  sleep 0.1
done
