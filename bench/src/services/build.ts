import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withDeadline } from '@pipeline/runtime';

const ROOT = join(import.meta.dirname, '../../..');
const BUILD_WITHIN_MS = 120_000;

export const IMAGES = ['hosted-api', 'monitor', 'migrate'] as const;
export type ImageName = (typeof IMAGES)[number];
export type ServiceName = Exclude<ImageName, 'migrate'>;

/**
 * Bundles a service as its container image does.
 * @returns the path of the program.
 */
export async function buildService(name: ImageName, workDir: string): Promise<string> {
  const out = join(workDir, name);
  const arguments_ = [join(ROOT, 'scripts/bundle.mjs'), name, '--out', out];
  const built = promisify(execFile)(process.execPath, arguments_, { timeout: BUILD_WITHIN_MS });
  await withDeadline(built, BUILD_WITHIN_MS, `the build of ${name}`);
  return join(out, 'bin/main.cjs');
}
