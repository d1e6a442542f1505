# SPDX-License-Identifier: Apache-2.0
# docker build -t tutti:0.1.0 .
FROM debian:12 AS build
WORKDIR /src
COPY scripts/setup scripts/setup
RUN scripts/setup
COPY . .
RUN make build
# Names the packages that own the libraries the binary needs, so that the image below has those and no others.
RUN ldd bin/tutti | awk '/=> \//{print $3}' | xargs realpath \
      | while read -r lib; do dpkg -S "$lib" 2>/dev/null || dpkg -S "${lib#/usr}"; done \
      | cut -d: -f1 | sort -u > /runtime-packages \
    && test -s /runtime-packages

FROM debian:12-slim
COPY --from=build /runtime-packages /tmp/runtime-packages
RUN apt-get update -q \
    && xargs apt-get install -q -y --no-install-recommends < /tmp/runtime-packages \
    && rm -rf /var/lib/apt/lists/* /tmp/runtime-packages
COPY --from=build /src/bin/tutti /usr/local/bin/tutti
USER 65532:65532
EXPOSE 10259
ENTRYPOINT ["/usr/local/bin/tutti"]
CMD ["run"]
