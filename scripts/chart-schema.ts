/**
 * Writes the schema of the values of the chart, deploy/helm/pipeline/values.schema.json, with the settings that the
 * services read. With `--check` it compares only, and exits 1 on drift.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChartValues } from './chart-values.ts';

const file = join(import.meta.dirname, '..', 'deploy', 'helm', 'pipeline', 'values.schema.json');
// Helm 3 supports draft 7.
const schema = z.toJSONSchema(ChartValues, { target: 'draft-7', io: 'input' });
const text = `${JSON.stringify(schema, null, 2)}\n`;

if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  if (process.argv.includes('--check')) {
    console.error(`Not up to date: ${file}\nUpdate with: node scripts/chart-schema.ts`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, text);
  }
}
