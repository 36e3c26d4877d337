# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_aicr_global_optspecs
    string join \n operator-namespace= reason= expires= dir= o/output= y/yes client kubeconfig= context= cluster= user= s/server= token= username= password= as= as-group= as-uid= as-user-extra= certificate-authority= client-certificate= client-key= insecure-skip-tls-verify= tls-server-name= proxy-url= request-timeout= disable-compression= n/namespace= h/help
end

function __fish_kubectl_aicr_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_aicr_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_aicr_using_subcommand
    set -l cmd (__fish_kubectl_aicr_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "describe" -d 'Show what an approver decides on: transition, steps, AICR\'s assessment, approval and drift'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "approve" -d 'Approve a rollout in your own name'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "revoke" -d 'Withdraw an approval: the step in flight finishes and no further step starts'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "acknowledge" -d 'Record that the steps after a release\'s apply are done, so that its rollout continues'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "reproduce" -d 'Write a plan\'s recipe and print the commands that render its bundle and compare it'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "version" -d 'Print the version of this plugin and of the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "completion" -d 'Print a completion script for a shell'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "__complete" -d 'Print candidates for the word that is being typed; called by kubectl_complete-aicr'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand describe" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand approve" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand revoke" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand acknowledge" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand reproduce" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand version" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand completion" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l operator-namespace -d 'Namespace of the operator, where assessment reports and plans live' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l reason -d 'Why you approve or revoke; at most 1024 characters' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l expires -d 'How long the approval stays valid, such as 2h; until the rollout\'s deadline when left out or 0' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l dir -d 'Folder that `reproduce` writes the recipe to' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -s o -l output -d 'Print `describe`, `reproduce` and `version` as data: json or yaml' -r -f -a "json\t'One JSON document'
yaml\t'The same as YAML'"
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l kubeconfig -d 'The kubeconfig file to read instead of $KUBECONFIG or ~/.kube/config' -r -F
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l context -d 'The context to use instead of the current one' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l cluster -d 'The cluster to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l user -d 'The user to use instead of the context\'s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l token -d 'Bearer token to authenticate with' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l username -d 'User name for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l password -d 'Password for basic authentication' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l as -d 'Act as this user' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l as-group -d 'Act as a member of this group; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l as-uid -d 'Act with this UID' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l as-user-extra -d 'Act with this extra attribute; repeat for more' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l certificate-authority -d 'File with the certificate authority that signs the server\'s certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l client-certificate -d 'File with the client certificate' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l client-key -d 'File with the client certificate\'s key' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate: anybody in between can read and change what is sent' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l tls-server-name -d 'Name to expect in the server\'s certificate instead of the address\'s host' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l proxy-url -d 'Proxy to reach the server through' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l request-timeout -d 'Wait at most this long for the server, if under 30s; seconds or a duration such as 10s' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l disable-compression -d 'Ask the server not to compress its answers; always so' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -s n -l namespace -d 'Refused: see [`ConnectionArgs::usage_problem`]' -r
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -s y -l yes -d 'Do not ask before approving or revoking on a terminal'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -l client -d '`version`: print this plugin\'s version only, without calling the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand __complete" -s h -l help -d 'Print help'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "describe" -d 'Show what an approver decides on: transition, steps, AICR\'s assessment, approval and drift'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "approve" -d 'Approve a rollout in your own name'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "revoke" -d 'Withdraw an approval: the step in flight finishes and no further step starts'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "acknowledge" -d 'Record that the steps after a release\'s apply are done, so that its rollout continues'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "reproduce" -d 'Write a plan\'s recipe and print the commands that render its bundle and compare it'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "version" -d 'Print the version of this plugin and of the server'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "completion" -d 'Print a completion script for a shell'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "__complete" -d 'Print candidates for the word that is being typed; called by kubectl_complete-aicr'
complete -c kubectl-aicr -n "__fish_kubectl_aicr_using_subcommand help; and not __fish_seen_subcommand_from describe approve revoke acknowledge reproduce version completion __complete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
