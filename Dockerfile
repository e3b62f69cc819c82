# The image of promscaler, built by whoever publishes it: docker build -t REGISTRY/promscaler:VERSION .
# Node 24 is the newest release line with long-term support that the tests run on.
# Both base images are pinned to the digest of their multi-platform index.
ARG BUILD=node:24-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
ARG BASE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:af85d11ce7ef10172855a6e3649e3e8125b1b9e3ca41849ec2918036f05cb212

# What is built is JavaScript, the same on every platform: other platforms than the builder's need no emulation.
FROM --platform=$BUILDPLATFORM ${BUILD} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json vite.config.mjs ./
COPY src src
RUN npm run build
# Only `promscaler demo` loads these.
RUN rm -r dist/cli/demo dist/simulator
# `kubectl exec POD -- promscaler doctor` needs a program on the PATH.
RUN printf '#!/nodejs/bin/node\nimport("/app/dist/bundle/main.js");\n' > promscaler && chmod 755 promscaler

FROM --platform=$BUILDPLATFORM ${BUILD} AS packages
# OMIT=optional leaves out what signs in to a managed Prometheus (oauth2, sigv4, azure, google): 38 of 65 MB.
ARG OMIT=dev
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=${OMIT} --ignore-scripts
# Only the demo uses these packages; they are optional.
RUN rm -rf node_modules/@marcbachmann/cel-js node_modules/tar node_modules/fflate

# No shell and no npm; the user is 65532, who owns nothing here. Nothing is written: the root may be read-only.
FROM ${BASE}
LABEL org.opencontainers.image.title="promscaler" \
      org.opencontainers.image.description="Workload autoscaler beside Prometheus" \
      org.opencontainers.image.licenses="Apache-2.0"
# With one malloc arena for each thread, RSS is 10 MB higher. With a threshold that grows, as by default, malloc keeps
# another 10 to 25 MB that it has freed.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/promscaler /usr/local/bin/promscaler
USER 65532:65532
EXPOSE 8080
# With few scalers, the semi-spaces keep their first size (src/cli/commands/heap-growth.ts). NODE_OPTIONS rejects the flag.
ENTRYPOINT ["/nodejs/bin/node", "--disable-proto=delete", "--min-semi-space-size=8", "/app/dist/bundle/main.js"]
CMD ["run", "--config", "/etc/promscaler/config/promscaler.yaml"]
