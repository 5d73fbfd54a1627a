/**
 * Writes scripts/checks/linear-patterns.generated.json: the regular expressions of libs/ and services/ that are proven
 * to cost linear time. With `--check` it compares only. Exits 1 and names file and line when a pattern is not linear.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  brokenPatterns,
  formatProven,
  keyOf,
  PROVEN_FILE,
  readProven,
  sourcePatterns,
} from './checks/linear-patterns.ts';

const check = process.argv.includes('--check');
const patterns = sourcePatterns();
const wanted = formatProven(patterns.map(keyOf));

if (check) {
  if (readFileSync(PROVEN_FILE, 'utf8') !== wanted) {
    process.stderr.write('regular expressions differ from the proven ones: run node scripts/linear-patterns.ts\n');
    process.exitCode = 1;
  }
} else {
  const broken = brokenPatterns(patterns, readProven());
  if (broken.length === 0) writeFileSync(PROVEN_FILE, wanted);
  for (const line of broken) process.stderr.write(`${line}\n`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}
