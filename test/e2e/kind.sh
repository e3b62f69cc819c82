#!/usr/bin/env bash
# The chart and the image on a kind cluster that is there: test/e2e/kind.sh [CLUSTER [IMAGE]]
# Installs a Prometheus that scrapes cAdvisor, the README's first document and a busy workload, and wants to see its
# replicas rise and `helm test` pass. Needs kind, kubectl, helm and docker; the image must be built. What it installs is
# removed at the end, also after Ctrl-C. ~/.kube/config is neither read nor written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cluster=${1:-kind}
image=${2:-promscaler:e2e}
namespace=promscaler-kind
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig

say() { printf 'kind.sh: %s\n' "$*" >&2; }

look() {
  say 'failed; how things stand:'
  kubectl get pods -A -o wide || true
  kubectl get deployment checkout -n shop -o yaml || true
  kubectl get events -n shop || true
  kubectl logs -n "$namespace" -l app.kubernetes.io/name=promscaler --tail=100 || true
}

clean() {
  local code=$?
  trap '' INT TERM
  trap - EXIT
  if [ "$code" -ne 0 ]; then look; fi
  say 'removing what was installed'
  helm uninstall promscaler -n "$namespace" --ignore-not-found --wait --timeout 2m || true
  # helm keeps it.
  kubectl delete crd scalers.promscaler.dev --ignore-not-found --timeout=1m || true
  kubectl delete -f test/e2e/manifests --ignore-not-found --timeout=3m || true
  rm -rf "$work"
  exit "$code"
}

trap 'rm -rf "$work"' EXIT
kind get kubeconfig --name "$cluster" > "$KUBECONFIG"
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

kind load docker-image "$image" --name "$cluster"
kubectl apply -f test/e2e/manifests
kubectl rollout status deployment/prometheus -n "$namespace" --timeout=3m
kubectl rollout status deployment/checkout -n shop --timeout=3m

helm upgrade --install promscaler charts/promscaler -n "$namespace" \
  --set image.repository="${image%:*}" --set-string image.tag="${image##*:}" --set image.pullPolicy=Never \
  --set prometheus.url="http://prometheus.$namespace:9090" \
  --set config.prometheus.default.scrapeIntervalSeconds=15 \
  --set config.prometheus.default.resourceWindowSeconds=60 \
  --set-file scalers.checkout=config/scalers/minimal.yaml \
  --wait --timeout 3m

# A window of 60 s must fill first. 200 % of the requests, where 80 % is asked for: 1 becomes 3, and so on.
say 'waiting for checkout to be scaled up, 5 minutes at most'
for _ in $(seq 100); do
  replicas=$(kubectl get deployment checkout -n shop -o 'jsonpath={.spec.replicas}')
  if [ "$replicas" -ge 3 ]; then break; fi
  sleep 3
done
say "checkout has $replicas replicas"
test "$replicas" -ge 3
kubectl get events -n shop --field-selector reason=SuccessfulRescale

# A chart without a test would pass it.
helm template promscaler charts/promscaler --show-only 'templates/tests/*.yaml' > /dev/null
helm test promscaler -n "$namespace" --logs --timeout 3m
say 'passed'
