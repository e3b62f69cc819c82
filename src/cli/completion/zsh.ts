/** The script can be sourced, or installed as `_promscaler` in $fpath. */
export const ZSH_SCRIPT = `#compdef promscaler
# zsh completion of promscaler. Try: source <(promscaler completion zsh)
_promscaler() {
  local line value text directive=:0
  local -a values
  while IFS= read -r line; do
    case "$line" in
      :*) directive="$line" ;;
      *)
        value="\${line%%$'\\t'*}"
        text="\${line#*$'\\t'}"
        # A colon in the value would begin the description.
        if [ "$text" = "$line" ]; then values+=("\${value//:/\\\\:}"); else values+=("\${value//:/\\\\:}:$text"); fi
        ;;
    esac
  done < <("$words[1]" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#values > 0 )); then
    _describe value values
  elif [ "$directive" = :0 ]; then
    _files
  fi
}
if [ "$funcstack[1]" = _promscaler ]; then _promscaler "$@"; else compdef _promscaler promscaler; fi
`;
