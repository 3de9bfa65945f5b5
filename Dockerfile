# The gateway as one executable in an otherwise empty image: no shell, no package manager, no root.
#   docker build -t model-gateway .
#   docker run -p 127.0.0.1:8080:8080 -v gateway-data:/data --read-only --tmpfs /tmp model-gateway
# How to run it for real: docs/run/deploy.md.

FROM node:24.20.0-bookworm-slim@sha256:ba849c60be29959425b8734d57b8b4b7d56f98edd9504c9af091d5281095a71e AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
# The second makes what the image is made of: the executable, the libraries it asks for, a user, and
# places to write to.
RUN scripts/bun scripts/build.ts /out --alone --name gateway \
  && deploy/docker/make-root /out/gateway /root-fs

FROM scratch
ARG VERSION=0.3.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Model Gateway" \
      org.opencontainers.image.description="One HTTP gateway in front of several model providers" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /root-fs /
# Numbers, so that an orchestrator can tell that it is not root.
USER 65532:65532
# A file /etc/gateway/gateway.yaml is read if it is there.
WORKDIR /etc/gateway
ENV GATEWAY_HOST=0.0.0.0 \
    GATEWAY_PORT=8080 \
    GATEWAY_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
# SIGTERM lets running answers end, for up to 60 s; SIGHUP reads gateway.yaml again.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=1s --retries=3 \
  CMD ["/gateway", "health"]
ENTRYPOINT ["/gateway"]
CMD ["start"]
