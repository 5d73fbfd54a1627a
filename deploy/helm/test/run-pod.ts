/** Runs a rendered pod as a container of Docker, with the user, the file systems and the settings that the chart gives it. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './helm.ts';
import type { Pod } from './pods.ts';

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly emptyDir?: { readonly sizeLimit: string };
  readonly projected?: {
    readonly defaultMode: number;
    readonly sources: readonly { readonly secret: { readonly name: string; readonly items: readonly Item[] } }[];
  };
}
interface Item {
  readonly key: string;
  readonly path: string;
}
interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
}

interface Source {
  /** All rendered objects, and the Secrets that they refer to. */
  readonly objects: readonly Manifest[];
  /** Folder for the files of volumes; removed by the caller. */
  readonly folder: string;
}

/** @returns arguments of `docker run` up to the name of the image and its command. */
export function dockerArguments({ component, spec }: Pod, source: Source): string[] {
  const [container] = spec.containers;
  if (container === undefined) throw new Error(`no container of ${component}`);
  const { runAsUser, runAsGroup } = spec.securityContext;
  const volumes = (spec.volumes ?? []) as readonly Volume[];
  const mounts = (container.volumeMounts ?? []) as readonly Mount[];
  return [
    `--user=${runAsUser}:${runAsGroup}`,
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges:true',
    `--memory=${bytes(container.resources.limits.memory ?? '1Gi')}`,
    ...(container.env ?? []).flatMap(({ name, value = '' }) => ['--env', `${name}=${value}`]),
    ...mounts.flatMap((mount) => {
      const volume = volumes.find(({ name }) => name === mount.name);
      if (volume === undefined) throw new Error(`${component} has no volume ${mount.name}`);
      return mountArguments(volume, mount, { ...source, folder: join(source.folder, component) });
    }),
    container.image,
    ...((container as { command?: readonly string[] }).command ?? []),
    ...(container.args ?? []),
  ];
}

function mountArguments(volume: Volume, { mountPath, subPath = '' }: Mount, source: Source): string[] {
  if (volume.emptyDir) return ['--tmpfs', `${mountPath}:exec,mode=1777,size=${bytes(volume.emptyDir.sizeLimit)}`];
  const folder = join(source.folder, volume.name);
  mkdirSync(folder, { recursive: true });
  // As the kubelet with fsGroup: the files belong to root and to the group of the pod.
  const write = (name: string, text: string, mode: number) => {
    writeFileSync(join(folder, name), text);
    // Without root, files are readable for everyone: whether the mode suffices is not seen then.
    if (process.getuid?.() === 0) chownSync(join(folder, name), 0, 1000);
    chmodSync(join(folder, name), process.getuid?.() === 0 ? mode : 0o444);
  };
  for (const { secret } of volume.projected?.sources ?? [])
    for (const { key, path } of secret.items)
      write(path, secretValue(source.objects, secret.name, key), volume.projected?.defaultMode ?? 0);
  for (const [name, text] of Object.entries(dataOf(source.objects, volume.configMap?.name))) write(name, text, 0o644);
  return ['--volume', `${join(folder, subPath)}:${mountPath}:ro`];
}

const dataOf = (objects: readonly Manifest[], name: string | undefined) =>
  objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)?.data ?? {};

function secretValue(objects: readonly Manifest[], name: string, key: string): string {
  const value = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name)?.data?.[key];
  if (value === undefined) throw new Error(`no Secret ${name} with the key ${key}`);
  return Buffer.from(value, 'base64').toString();
}

/** A quantity such as 64Mi in the form of Docker. */
const bytes = (quantity: string): string => quantity.replace(/i$/, '').toLowerCase();
