m() { # name file find replace
  python3 - "$2" "$3" "$4" <<'P'
import sys
p,a,b=sys.argv[1:]
s=open(p).read(); assert a in s,(p,a); open(p,'w').write(s.replace(a,b,1))
P
  echo "== $1"; timeout 150 npm test -- test/decision/forecast test/backtest/simulation/forecast.test.ts 2>&1 | grep -E "^  ●|Tests:" | sort -u | cut -c1-150 | head -8
  git checkout -q "$2"
}
F=src/decision/forecast
m "lowers" $F/forecast.ts "Math.max(recommended, proposed.replicas)" "proposed.replicas"
m "observe acts" $F/forecast.ts "const isRaising = forecast.mode === 'Raise';" "const isRaising = true;"
m "UTC days" $F/seasons.ts "addSeconds(instantOfLocal(local - days * 86_400_000, timeZone), secondsPastMinute)" "addSeconds(now, -days * 86_400 + 0 * secondsPastMinute)"
m "one day is enough" $F/seasons.ts "FEWEST_SEASONS = 3" "FEWEST_SEASONS = 1"
m "no level" $F/propose-forecast.ts "Math.min(HIGHEST_SCALE, today / level)" "1"
m "not monotone" $F/propose-forecast.ts "scaled.sort((a, b) => a.load - b.load)" "scaled.sort((a, b) => b.load - a.load)"
