# Stand-ins of the public images of deploy/compose, from Debian's packages, for machines that reach no image registry:
#
#   docker build --target haproxy -f scripts/containers/stand-ins.Dockerfile scripts/containers
#
# scripts/containers/stand-ins.ts builds those that cannot be pulled. For tests alone: versions are Debian's.
ARG DEBIAN_IMAGE=debian:bookworm-slim
ARG POSTGRES_IMAGE=postgres:18-bookworm

FROM ${DEBIAN_IMAGE} AS debian
RUN sed -i 's/bookworm/trixie/g' $(grep -rl bookworm /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null) \
  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get dist-upgrade -y -qq && rm -rf /var/lib/apt/lists/*

FROM debian AS haproxy
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends haproxy && rm -rf /var/lib/apt/lists/*
USER haproxy
CMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]

FROM debian AS prometheus
RUN apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/* \
  && install -d -o nobody -g nogroup /prometheus
USER nobody
WORKDIR /prometheus
ENTRYPOINT ["prometheus"]

# pg_basebackup of the same major version, where the image has only the server. It brings its own C library.
FROM debian AS basebackup
RUN sed -i 's/trixie/forky/g' $(grep -rl trixie /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null) && apt-get update -qq -o Acquire::Check-Valid-Until=false \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql-client-18 \
  && install -d /opt/basebackup && cp /usr/lib/postgresql/18/bin/pg_basebackup /opt/basebackup/ \
  && ldd /opt/basebackup/pg_basebackup | grep -o '/[^ ]*' | sort -u | xargs cp -L -t /opt/basebackup \
  && printf '#!/bin/sh\nexec /opt/basebackup/ld-linux-*.so.? --library-path /opt/basebackup /opt/basebackup/pg_basebackup "$@"\n' \
    > /usr/local/bin/pg_basebackup && chmod 755 /usr/local/bin/pg_basebackup

FROM ${POSTGRES_IMAGE} AS postgres
COPY --from=basebackup /opt/basebackup /opt/basebackup
COPY --from=basebackup /usr/local/bin/pg_basebackup /usr/local/bin/
