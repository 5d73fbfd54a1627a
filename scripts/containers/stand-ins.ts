/** Public images of the compose files, or stand-ins where they cannot be pulled. */
import { docker, must, type Variables } from './docker.ts';

const DOCKERFILE = 'scripts/containers/stand-ins.Dockerfile';

/** The setting of each image, and the target of its stand-in. */
const TARGETS = {
  DEBIAN_IMAGE: 'debian',
  HAPROXY_IMAGE: 'haproxy',
  PROMETHEUS_IMAGE: 'prometheus',
  POSTGRES_IMAGE: 'postgres',
} as const;

export type ImageSetting = keyof typeof TARGETS;

/** Returns whether the image is on this machine or can be pulled. */
export function isAvailable(image: string): boolean {
  return docker(['image', 'inspect', image]).status === 0 || docker(['pull', '--quiet', image]).status === 0;
}

/**
 * @param images the public image of each setting.
 * @returns the settings that name a stand-in, which is built from Debian's packages.
 */
export function standIns(images: Readonly<Record<ImageSetting, string>>): Variables {
  const missing = (Object.keys(TARGETS) as ImageSetting[]).filter((name) => !isUsable(name, images[name]));
  return Object.fromEntries(missing.map((name) => [name, built(TARGETS[name])]));
}

/** An image of Postgres that was made of the server alone has no tool to copy it. */
function isUsable(name: ImageSetting, image: string): boolean {
  if (!isAvailable(image)) return false;
  const hasTool = () => docker(['run', '--rm', '--entrypoint', 'pg_basebackup', image, '--version']).status === 0;
  return name !== 'POSTGRES_IMAGE' || hasTool();
}

function built(target: string): string {
  const tag = `pipeline-stand-in-${target}`;
  must(docker(['build', '--quiet', '--target', target, '--tag', tag, '--file', DOCKERFILE, 'scripts/containers']));
  return tag;
}
