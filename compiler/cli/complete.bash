# bash completion for membrane
_membrane()
{
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o default ;;
		:folders) compopt -o dirnames ;;
		:command) mapfile -t COMPREPLY < <(compgen -A command -A file -- "$2") ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <(command membrane complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _membrane membrane
