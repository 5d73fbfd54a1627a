import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AnyRoute } from '@pipeline/contract';

/** Returns the text of a module with method and path of every route, so that pages need the contract for types only. */
const moduleOf = (routes: readonly AnyRoute[]): string => {
  const lines = routes.map(({ id, method, path }) => `  ${id}: ['${method}', '${path}'],`);
  return `// Written by scripts/generate-routes-main.ts.\nexport const ROUTES = {\n${lines.join('\n')}\n} as const;\n`;
};

/** Writes the module of the routes to a file. @returns false when `isCheck` finds the file out of date. */
export function putRoutesFile(file: string, routes: readonly AnyRoute[], isCheck: boolean): boolean {
  const text = moduleOf(routes);
  if (isCheck) return existsSync(file) && readFileSync(file, 'utf8') === text;
  writeFileSync(file, text);
  return true;
}
