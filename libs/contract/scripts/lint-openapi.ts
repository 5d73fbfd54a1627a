/** Lints both OpenAPI documents with Redocly. A warning fails as well. Needs no network. */
import { createConfig, formatProblems, getTotals, lintFromString } from '@redocly/openapi-core';
import { hostedSurface, monitorSurface, openApiDocument } from '../src/index.ts';

const config = await createConfig({ extends: ['recommended-strict'] });
for (const surface of [hostedSurface, monitorSurface]) {
  const source = JSON.stringify(openApiDocument(surface), null, 2);
  const problems = await lintFromString({ source, absoluteRef: `${surface.name}.json`, config });
  const totals = getTotals(problems);
  formatProblems(problems, { totals, format: 'codeframe' });
  if (totals.errors + totals.warnings > 0) process.exitCode = 1;
}
