/**
 * Validation against the API of Kubernetes and of the Prometheus operator, without a cluster: by the validators that
 * kubernetes-models generates from their OpenAPI schemas, and by its types, because the validators accept unknown fields
 * and the compiler reports them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Manifest, ROOT } from './helm.ts';

type Model = new (data: unknown) => { validate(): void };

/** @returns one line per problem, each with kind and name of its object. */
export async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const invalid = await Promise.all(manifests.map(invalidFields));
  return [...invalid.flat(), ...unknownFields(manifests)];
}

const moduleOf = ({ apiVersion, kind }: Manifest): string => {
  const models = apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
  return `${models}/${apiVersion}/${kind}`;
};

async function invalidFields(manifest: Manifest): Promise<string[]> {
  const object = `${manifest.kind} ${manifest.metadata.name}`;
  try {
    const { [manifest.kind]: Kind } = (await import(moduleOf(manifest))) as Record<string, Model>;
    if (Kind === undefined) return [`${object}: no such kind`];
    new Kind(manifest).validate();
    return [];
  } catch (error) {
    return [`${object}: ${(error as Error).message}`];
  }
}

/** The compiler refuses a literal with a field that its type does not have. */
function unknownFields(manifests: readonly Manifest[]): string[] {
  const cache = join(import.meta.dirname, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'chart-types-'));
  try {
    for (const [index, manifest] of manifests.entries()) {
      const { kind, metadata } = manifest;
      const type = `import type { I${kind} } from ${JSON.stringify(moduleOf(manifest))};\n`;
      const literal = `export const manifest: I${kind} = ${JSON.stringify(manifest, null, 1)};\n`;
      writeFileSync(join(folder, `${kind}-${metadata.name}-${index}.ts`), type + literal);
    }
    const compilerOptions = { module: 'nodenext', strict: true, skipLibCheck: true, noEmit: true, types: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { status, stdout, error } = spawnSync(tsc, ['--pretty', 'false', '-p', folder], { encoding: 'utf8' });
    if (error) throw error;
    const problems = stdout.split('\n').filter((line) => line.includes('error TS'));
    if (problems.length === 0 && status !== 0) throw new Error(`tsc ended with ${status}\n${stdout}`);
    // Of the compiler itself: nothing was checked.
    const ownProblem = problems.find((line) => line.startsWith('error TS'));
    if (ownProblem) throw new Error(ownProblem);
    return problems;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
