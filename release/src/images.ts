/** The container images: built by deploy/docker-bake.hcl, here and in the workflow of a release. */
import { git, output, succeeds } from './commands.ts';

const BAKE_FILE = 'deploy/docker-bake.hcl';

/** An image of the local engine. */
export interface BuiltImage {
  readonly name: string;
  /** Digest of its configuration. The digest in a registry covers compression and attestations as well. */
  readonly id: string;
  readonly bytes: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns why images cannot be built on this machine, or undefined when they can. */
export function missingEngine(root: string): string | undefined {
  if (!succeeds(root, 'docker', ['version'])) return 'no Docker engine answers';
  if (!succeeds(root, 'docker', ['buildx', 'version'])) return 'Docker has no buildx';
  return undefined;
}

/** Builds all images with the version as their tag and returns them by name. */
export function buildImages(root: string, version: string, repository: string): BuiltImage[] {
  const env = {
    VERSION: version,
    SOURCE: repository,
    REVISION: git(root, 'rev-parse', 'HEAD'),
    CREATED: git(root, 'log', '-1', '--format=%cI'),
  };
  const { target } = JSON.parse(output(root, 'docker', ['buildx', 'bake', '--file', BAKE_FILE, '--print'], env)) as {
    target: Record<string, { tags: [string] }>;
  };
  output(root, 'docker', ['buildx', 'bake', '--file', BAKE_FILE, '--load', '--progress', 'plain'], env);
  const names = Object.values(target).map(({ tags: [name] }) => name);
  return names.sort().map((name) => inspected(root, name));
}

function inspected(root: string, name: string): BuiltImage {
  const [image] = JSON.parse(output(root, 'docker', ['image', 'inspect', name])) as [
    { Id: string; Size: number; Config: { Labels: Record<string, string> } },
  ];
  return { name, id: image.Id, bytes: image.Size, labels: image.Config.Labels };
}
