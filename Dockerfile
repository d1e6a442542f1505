# SPDX-License-Identifier: Apache-2.0
# docker build -t tutti:0.1.0 .
#
# The image has the binary, the libraries that it needs, certificates, and an SBOM in /usr/share/sbom: no shell, no
# package manager, no user but the one that it runs as.
FROM debian:12 AS build
WORKDIR /src
COPY scripts/setup scripts/setup
RUN scripts/setup
COPY . .
RUN make build && scripts/package --image-root bin/tutti /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
EXPOSE 10259
ENTRYPOINT ["/usr/local/bin/tutti"]
CMD ["run"]
