# syntax=docker/dockerfile:1.7
#
# Two images from one build:
#   docker build --target server --tag groundstate .                 serve, play and every other command
#   docker build --target worker --tag groundstate-worker .          the same program on top of vLLM
#
# No stage is given a secret: passwords, tokens and keys come when a container is started.

ARG RUST_VERSION=1.95.0
ARG VLLM_IMAGE=vllm/vllm-openai:v0.33.0

# Debian 12 for both builder and server, and its glibc (2.36) is the newest that the program may ask for: an image for
# workers must not be older than Ubuntu 22.04.
FROM rust:${RUST_VERSION}-bookworm AS build
# node and npm bundle the code editor; the web app itself is WebAssembly.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends nodejs npm \
    && rm -rf /var/lib/apt/lists/* \
    && rustup target add wasm32-unknown-unknown
WORKDIR /src
COPY . .
# The program embeds the web app, hence the order. Its queries were checked when .sqlx was written: no database is
# needed. What cargo and npm fetch and compile stays in caches, which are no part of the image.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/root/.npm,sharing=locked \
    --mount=type=cache,target=/src/target,sharing=locked \
    cargo xtask web \
    && SQLX_OFFLINE=true cargo build --profile dist --locked --package server \
    && install -D target/dist/groundstate /out/groundstate

FROM debian:bookworm-slim AS server
# tini hands signals on and buries the processes of MCP servers and engines; curl is for health checks.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin groundstate \
    && install --directory --owner=groundstate --group=groundstate /var/lib/groundstate /etc/groundstate
COPY --from=build /out/groundstate /usr/local/bin/groundstate
# Where exports are kept. DATABASE_URL says which PostgreSQL; there is none in this image.
ENV GROUNDSTATE_FILES=/var/lib/groundstate/files \
    TMPDIR=/var/lib/groundstate
WORKDIR /var/lib/groundstate
USER 10001:10001
EXPOSE 7878
ENTRYPOINT ["/usr/bin/tini", "--", "groundstate"]
CMD ["serve", "--listen", "0.0.0.0:7878", "--project", "/etc/groundstate"]
HEALTHCHECK --interval=15s --timeout=5s --start-period=2m --retries=3 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:7878/readyz"]

# The engine's image decides about CUDA and Python. Any that has `vllm`, `sglang` or `llama-server` in its PATH will do.
FROM ${VLLM_IMAGE} AS worker
USER 0
COPY --from=server /usr/bin/tini-static /usr/bin/tini
COPY --from=build /out/groundstate /usr/local/bin/groundstate
# Compilers of kernels ask for the name of the user and write to its home, so it has both.
RUN useradd --uid 10001 --create-home groundstate \
    && install --directory --owner=groundstate --group=groundstate /models
# Where weights are kept: give it a volume, or each start downloads them.
ENV HF_HOME=/models
WORKDIR /home/groundstate
USER 10001:10001
EXPOSE 8000
ENTRYPOINT ["/usr/bin/tini", "--", "groundstate"]
CMD ["worker", "--help"]
# The engine loads for minutes before it answers.
HEALTHCHECK --interval=15s --timeout=5s --start-period=20m --retries=3 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:8000/health"]
