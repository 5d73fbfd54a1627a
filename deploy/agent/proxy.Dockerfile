# The way of agents to the network: a proxy that connects to the hosts of egress.txt only.
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${DEBIAN_IMAGE}
LABEL org.opencontainers.image.title="pipeline-agent-proxy" org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends squid && rm -rf /var/lib/apt/lists/*
COPY squid.conf egress.txt /etc/squid/
USER proxy
ENTRYPOINT ["squid", "-N", "-f", "/etc/squid/squid.conf"]
