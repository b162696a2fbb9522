#compdef membrane
_membrane()
{
	local line
	local -a list
	for line in ${(f)"$(command membrane complete -- "${(@Q)words[2,CURRENT - 1]}" "${(Q)PREFIX}" 2>/dev/null)"}; do
		case $line in
		:files) compset -P '--*='; _files ;;
		:folders) compset -P '--*='; _files -/ ;;
		:command) shift ${words[(i)--]} words; ((CURRENT = $#words)); _normal ;;
		*) list+=("${${line//:/\\:}/$'\t'/:}") ;;
		esac
	done
	_describe -V membrane list
}
# Autoloaded at the first use, which is to complete already; or sourced.
if [[ $funcstack[1] == _membrane ]]; then _membrane "$@"; else compdef _membrane membrane; fi
