export const FISH_SCRIPT = `# fish completion of promscaler. Try: promscaler completion fish | source
function __promscaler_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
  set -l values (string match -v -r '^:' -- $lines)
  if test (count $values) -gt 0
    printf '%s\\n' $values
  else if contains -- :0 $lines
    __fish_complete_path "$current"
  end
end
complete -c promscaler -f -a '(__promscaler_complete)'
`;
