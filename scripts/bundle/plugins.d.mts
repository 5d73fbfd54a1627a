import type { Metafile, Plugin } from 'esbuild';

export function apart(): { plugin: Plugin; entryPoints(outputs: Metafile['outputs']): Record<string, string> };
export const ascii: Plugin;
export const fewTypes: Plugin;
export const noExemplars: Plugin;
export const oneLocale: Plugin;
export const unused: Plugin;
export function requireAscii(file: string, bytes: Uint8Array): void;
