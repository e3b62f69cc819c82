/** Works with bash 3.2 and newer, without the package bash-completion. */
export const BASH_SCRIPT = `# bash completion of promscaler. Try: source <(promscaler completion bash)
_promscaler() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      # No file names either. Bash 3.2 has no compopt.
      :4) compopt +o default 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _promscaler promscaler
`;
