import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { referenceDocuments } from '../scripts/documents.ts';
import { BLOCK_REASONS, DEFAULT_WORKFLOW } from '../src/index.ts';

const documents = referenceDocuments();

describe('the reference pages', () => {
  test.each(Object.keys(documents))('%s matches the code; generate.ts rewrites it', async (name) => {
    const stored = await readFile(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
    expect(stored).toBe(documents[name]);
  });

  test('draw every edge of the workflow and list its triggers', () => {
    const page = documents['reference/workflow.md'] ?? '';
    for (const { from, to, trigger } of DEFAULT_WORKFLOW.edges) {
      const [start, end] = [from, to].map((state) => state.replaceAll('-', '_'));
      expect(page).toMatch(new RegExp(`^  ${start} --> ${end}: (?:.*, )?${trigger}(?:,|$)`, 'm'));
      expect(page).toMatch(new RegExp(`^\\| \`${from}\` \\| \`${to}\` \\| (?:.*, )?${trigger}(?:,| \\|)`, 'm'));
    }
  });

  test('explain every block reason', () => {
    for (const [reason, { remedy }] of Object.entries(BLOCK_REASONS)) {
      expect(documents['reference/block-reasons.md']).toMatch(
        new RegExp(`^\\| \`${reason}\` .*${remedy.slice(0, 20)}`, 'm'),
      );
    }
  });

  test('let an editor find a mistyped key of the configuration', () => {
    const schema = JSON.parse(documents['reference/pipeline-config.schema.json'] ?? '');
    expect(schema.additionalProperties).toBe(false);
    expect(schema.properties.selfHealing.additionalProperties).toBe(false);
    expect(schema.required ?? []).toEqual([]);
  });
});
