# fish completion for membrane
function __membrane_complete
	set -l last (commandline -ct)
	set -l flag (string match -r -- '^--[^=]*=' $last)
	set -l value (string replace -r -- '^--[^=]*=' '' $last)
	for line in (command membrane complete -- (commandline -opc)[2..-1] $last 2>/dev/null)
		switch $line
			case :files
				__fish_complete_path $value | string replace -r '^' -- "$flag"
			case :folders
				__fish_complete_directories $value | string replace -r '^' -- "$flag"
			case :command
				__fish_complete_command; __fish_complete_path $last
			case '*'
				echo -- $line
		end
	end
end
complete -c membrane -f -k -a '(__membrane_complete)'
