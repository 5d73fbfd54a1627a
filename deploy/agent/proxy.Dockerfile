# The way of agents to the network: a proxy that connects to the hosts of egress.txt only.
FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends squid && rm -rf /var/lib/apt/lists/*
COPY squid.conf egress.txt /etc/squid/
USER proxy
ENTRYPOINT ["squid", "-N", "-f", "/etc/squid/squid.conf"]
