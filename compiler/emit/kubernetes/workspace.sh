set -eu
git clone --quiet --no-checkout -- "$1" "$2"
cd "$2"
git checkout --quiet "${3:-HEAD}" --
printf '%s\n' "$4" > .git/hidden
git ls-files -z --cached --ignored --exclude-from=.git/hidden > .git/hidden.z
git update-index -z --skip-worktree --stdin < .git/hidden.z
xargs -0 rm -f -- < .git/hidden.z
rm .git/hidden .git/hidden.z
