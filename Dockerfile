# The image of promscaler, built by whoever publishes it: docker build -t REGISTRY/promscaler:VERSION .
# Who publishes pins both base images by digest: --build-arg BUILD=node:22-bookworm-slim@sha256:... and the same for BASE.
ARG BUILD=node:22-bookworm-slim
ARG BASE=gcr.io/distroless/nodejs22-debian12:nonroot

FROM ${BUILD} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build

FROM ${BUILD} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

# No shell and no npm; the user is 65532, who owns nothing here.
FROM ${BASE}
ENV NODE_ENV=production
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/nodejs/bin/node", "--disable-proto=delete", "/app/dist/cli/main.js"]
CMD ["run", "--config", "/etc/promscaler/config/promscaler.yaml"]
