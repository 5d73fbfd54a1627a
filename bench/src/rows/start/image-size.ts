import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Fact, Row } from '../../runner/model.ts';
import { buildService, IMAGES, type ImageName } from '../../services/build.ts';

const DEPLOY = join(import.meta.dirname, '../../../../deploy');
const MOST_MB = 40;

/**
 * Goal 24: what an image has over its base, uncompressed: the folders that deploy/Dockerfile copies into it, made by the
 * same scripts as there. Programs, licences, the code cache of V8, and the dashboard where there is one.
 */
export const imageSizeRow: Row = {
  goal: 24,
  title: 'size of the images',
  open: async (bench) => ({
    cases: [],
    async facts() {
      const facts: Fact[] = [];
      // One after the other: each is started once, on the same port.
      for (const name of IMAGES) facts.push(await sizeOf(bench, name));
      return facts;
    },
  }),
};

async function sizeOf(bench: Bench, name: ImageName): Promise<Fact> {
  const bin = dirname(await buildService(name, bench.workDir));
  await cp(join(DEPLOY, 'healthcheck.cjs'), join(bin, 'healthcheck.cjs'));
  const cache = join(bench.workDir, `${name}-image-cache`);
  await rm(cache, { recursive: true, force: true });
  await mkdir(cache);
  await promisify(execFile)(process.execPath, [join(DEPLOY, 'warm-cache.mjs'), name, bin], {
    env: { NODE_COMPILE_CACHE: cache },
  });
  const folders = [bin, cache, join(dirname(bin), 'web')];
  const octets = await Promise.all(folders.map(octetsIn));
  const value = octets.reduce((sum, one) => sum + one, 0) / 1e6;
  return { title: `image of ${name}: size over its base`, value, unit: 'MB', bound: { atMost: MOST_MB } };
}

/** Sums the octets of a folder, which may be missing. */
async function octetsIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name)));
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
}
