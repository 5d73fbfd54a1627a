/** Reads the repository as the checks see it: its tracked files, and its packages with the imports of each file. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Module, parseSync } from '@swc/core';
import type { WorkspacePackage } from './import-rules.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** Paths of all files that git tracks or would add, without those that are deleted. */
export function repositoryFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const paths = new Set(listed.toString().trimEnd().split('\n'));
  return [...paths].filter((path) => existsSync(join(ROOT, path))).sort();
}

/** Every package below the root with the imports of its TypeScript files. */
export function readPackages(files: readonly string[] = repositoryFiles()): WorkspacePackage[] {
  const manifests = files.filter((path) => /^(libs|services)\/.*package\.json$/.test(path));
  return manifests.map((manifest) => {
    const folder = folderOf(manifest);
    const { name, dependencies = {} } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8'));
    // A package may lie inside another one, such as the dashboard in the monitor.
    const inner = manifests.filter((other) => other !== manifest && other.startsWith(folder)).map(folderOf);
    const own = files.filter(
      (path) => path.startsWith(folder) && /\.tsx?$/.test(path) && !inner.some((other) => path.startsWith(other)),
    );
    return {
      name: unscoped(name),
      dependencies: Object.keys(dependencies).filter(isOurs).map(unscoped),
      files: own.map((path) => ({
        path: path.slice(folder.length),
        imports: importsOf(readFileSync(join(ROOT, path), 'utf8'), path.endsWith('x')),
      })),
    };
  });
}

const folderOf = (manifest: string): string => manifest.slice(0, -'package.json'.length);

/** Module specifiers of a TypeScript source: imports, re-exports and `import()` of a literal. */
export function importsOf(source: string, tsx = false): string[] {
  const found: string[] = [];
  collect(parseSync(source, { syntax: 'typescript', tsx }), found);
  return found;
}

interface SyntaxNode {
  readonly type?: string;
  readonly source?: { readonly value: string } | null;
  readonly callee?: SyntaxNode;
  readonly arguments?: readonly { readonly expression: { readonly type: string; readonly value?: unknown } }[];
}

const IMPORTING = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration'];

function collect(node: Module | SyntaxNode, found: string[]): void {
  const { type, source, callee, arguments: args } = node as SyntaxNode;
  if (source && IMPORTING.includes(type ?? '')) found.push(source.value);
  const argument = callee?.type === 'Import' ? args?.[0]?.expression : undefined;
  if (typeof argument?.value === 'string') found.push(argument.value);
  for (const child of Object.values(node)) {
    for (const part of Array.isArray(child) ? child : [child]) {
      if (part !== null && typeof part === 'object') collect(part, found);
    }
  }
}

function isOurs(name: string): boolean {
  return name.startsWith('@pipeline/');
}

function unscoped(name: string): string {
  return name.slice('@pipeline/'.length);
}
