
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-aicr' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-aicr'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-aicr' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('describe', 'describe', [CompletionResultType]::ParameterValue, 'Show what an approver decides on: transition, steps, AICR''s assessment, approval and drift')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Approve a rollout in your own name')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Withdraw an approval: the step in flight finishes and no further step starts')
            [CompletionResult]::new('acknowledge', 'acknowledge', [CompletionResultType]::ParameterValue, 'Record that the steps after a release''s apply are done, so that its rollout continues')
            [CompletionResult]::new('reproduce', 'reproduce', [CompletionResultType]::ParameterValue, 'Write a plan''s recipe and print the commands that render its bundle and compare it')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of this plugin and of the server')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('__complete', '__complete', [CompletionResultType]::ParameterValue, 'Print candidates for the word that is being typed; called by kubectl_complete-aicr')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-aicr;describe' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;approve' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;revoke' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;acknowledge' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;reproduce' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;version' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;completion' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;__complete' {
            [CompletionResult]::new('--operator-namespace', '--operator-namespace', [CompletionResultType]::ParameterName, 'Namespace of the operator, where assessment reports and plans live')
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why you approve or revoke; at most 1024 characters')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'How long the approval stays valid, such as 2h; until the rollout''s deadline when left out or 0')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder that `reproduce` writes the recipe to')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print `describe`, `reproduce` and `version` as data: json or yaml')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context to use instead of the current one')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster to use instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user to use instead of the context''s')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Address of the API server')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'User name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'Password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group; repeat for more')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'Act with this UID')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Act with this extra attribute; repeat for more')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'File with the certificate authority that signs the server''s certificate')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'File with the client certificate')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'File with the client certificate''s key')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate: anybody in between can read and change what is sent')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'Name to expect in the server''s certificate instead of the address''s host')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'Proxy to reach the server through')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers; always so')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Refused: see [`ConnectionArgs::usage_problem`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask before approving or revoking on a terminal')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, '`version`: print this plugin''s version only, without calling the server')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'kubectl-aicr;help' {
            [CompletionResult]::new('describe', 'describe', [CompletionResultType]::ParameterValue, 'Show what an approver decides on: transition, steps, AICR''s assessment, approval and drift')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Approve a rollout in your own name')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Withdraw an approval: the step in flight finishes and no further step starts')
            [CompletionResult]::new('acknowledge', 'acknowledge', [CompletionResultType]::ParameterValue, 'Record that the steps after a release''s apply are done, so that its rollout continues')
            [CompletionResult]::new('reproduce', 'reproduce', [CompletionResultType]::ParameterValue, 'Write a plan''s recipe and print the commands that render its bundle and compare it')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of this plugin and of the server')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('__complete', '__complete', [CompletionResultType]::ParameterValue, 'Print candidates for the word that is being typed; called by kubectl_complete-aicr')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-aicr;help;describe' {
            break
        }
        'kubectl-aicr;help;approve' {
            break
        }
        'kubectl-aicr;help;revoke' {
            break
        }
        'kubectl-aicr;help;acknowledge' {
            break
        }
        'kubectl-aicr;help;reproduce' {
            break
        }
        'kubectl-aicr;help;version' {
            break
        }
        'kubectl-aicr;help;completion' {
            break
        }
        'kubectl-aicr;help;__complete' {
            break
        }
        'kubectl-aicr;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
