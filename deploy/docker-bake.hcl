# The container images of a release: docker buildx bake --file deploy/docker-bake.hcl
# release/src/images.ts and .github/workflows/release.yml set the variables.

variable "VERSION" {
  default = "local"
}
# Commit, its time, and the address of the repository.
variable "REVISION" {
  default = ""
}
variable "CREATED" {
  default = ""
}
variable "SOURCE" {
  default = ""
}
# A reference with a digest makes all images of a release share one base.
variable "NODE_IMAGE" {
  default = "node:24-bookworm-slim"
}
variable "DEBIAN_IMAGE" {
  default = "debian:bookworm-slim"
}
# Such as images.example.org/acme. With a registry the images are pushed by digest, without a tag: nothing refers to them
# until they are tested and tagged.
variable "REGISTRY" {
  default = ""
}

group "default" {
  targets = ["agent", "agent-proxy", "contract-tests", "hosted-api", "migrate", "monitor"]
}

function "tags" {
  params = [name]
  result = REGISTRY == "" ? ["pipeline-${name}:${VERSION}"] : []
}

function "outputs" {
  params = [name]
  result = REGISTRY == "" ? [] : ["type=image,name=${REGISTRY}/pipeline-${name},push-by-digest=true,name-canonical=true,push=true"]
}

# The inventory of BuildKit holds the packages of the operating system; those of a bundle are in sbom-NAME.cdx.json.
function "attestations" {
  params = []
  result = REGISTRY == "" ? [] : ["type=provenance,mode=max", "type=sbom"]
}

function "labels" {
  params = [name, description]
  result = {
    "org.opencontainers.image.title"       = "pipeline-${name}"
    "org.opencontainers.image.description" = description
    "org.opencontainers.image.version"     = VERSION
    "org.opencontainers.image.revision"    = REVISION
    "org.opencontainers.image.created"     = CREATED
    "org.opencontainers.image.source"      = SOURCE
    "org.opencontainers.image.licenses"    = "Apache-2.0"
  }
}

target "hosted-api" {
  dockerfile = "deploy/Dockerfile"
  args       = { SERVICE = "hosted-api", NODE_IMAGE = NODE_IMAGE }
  labels     = labels("hosted-api", "Read API, worker protocol, webhooks and OAuth server of the pipeline service")
  tags       = tags("hosted-api")
  output     = outputs("hosted-api")
  attest     = attestations()
}

target "monitor" {
  dockerfile = "deploy/Dockerfile"
  args       = { SERVICE = "monitor", NODE_IMAGE = NODE_IMAGE }
  labels     = labels("monitor", "Operator API, dashboard and background loops of the pipeline service")
  tags       = tags("monitor")
  output     = outputs("monitor")
  attest     = attestations()
}

target "migrate" {
  dockerfile = "deploy/Dockerfile"
  args       = { SERVICE = "migrate", NODE_IMAGE = NODE_IMAGE }
  labels     = labels("migrate", "Migrations and administration of the pipeline service")
  tags       = tags("migrate")
  output     = outputs("migrate")
  attest     = attestations()
}

target "agent" {
  dockerfile = "deploy/agent/Dockerfile"
  args       = { NODE_IMAGE = NODE_IMAGE }
  labels     = labels("agent", "Worker of the pipeline service that runs coding agents")
  tags       = tags("agent")
  output     = outputs("agent")
  attest     = attestations()
}

target "agent-proxy" {
  context    = "deploy/agent"
  dockerfile = "proxy.Dockerfile"
  args       = { DEBIAN_IMAGE = DEBIAN_IMAGE }
  labels     = labels("agent-proxy", "Proxy that limits the network of agents to known hosts")
  tags       = tags("agent-proxy")
  output     = outputs("agent-proxy")
  attest     = attestations()
}

target "contract-tests" {
  dockerfile = "deploy/contract-tests/Dockerfile"
  args       = { NODE_IMAGE = NODE_IMAGE }
  labels     = labels("contract-tests", "Contract tests of the pipeline service")
  tags       = tags("contract-tests")
  output     = outputs("contract-tests")
  attest     = attestations()
}
