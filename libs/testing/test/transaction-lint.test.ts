import { expect, test } from '@jest/globals';
import { TransactionLint } from '../src/sql-lint/transaction-rules.ts';

const OF_TENANT = 'update "issues" set state = $1 where tenant_id = $2';
const LOCAL = 'insert into worker_tokens (id) values ($1)';
const REFERENCE = 'insert into pipeline.audit_log (id) values ($1)';

/** The first line of each finding about these statements, all of one session. */
function findingsOf(...texts: string[]): string[] {
  const lint = new TransactionLint();
  const session = {};
  for (const text of texts) lint.note(session, text);
  return lint.findings.map((finding) => finding.split('\n')[0] ?? '');
}

const BEGIN = 'start transaction isolation level read committed';
const FINDING = 'one transaction writes local worker_tokens and issues, on two servers';

test.each([
  ['of one tenant', [BEGIN, OF_TENANT, 'delete from tasks where tenant_id = $1', 'commit']],
  ['of the coordinator', [BEGIN, LOCAL, 'update settings set body = $1', 'commit']],
  ['with a reference table, which is committed in two phases', [BEGIN, LOCAL, OF_TENANT, REFERENCE, 'commit']],
  ['that is rolled back', [BEGIN, LOCAL, OF_TENANT, 'rollback']],
  [
    'of a tenant that only reads and locks a local table',
    [BEGIN, 'select from leaders for update', OF_TENANT, 'commit'],
  ],
  ['one after the other', [BEGIN, LOCAL, 'commit', BEGIN, OF_TENANT, 'commit']],
])('a transaction passes: %s', (_name, texts) => {
  expect(findingsOf(...texts)).toEqual([]);
});

test.each([
  ['a transaction', [BEGIN, OF_TENANT, LOCAL, 'commit']],
  ['one that went back to a savepoint', [BEGIN, OF_TENANT, LOCAL, 'rollback to savepoint a', 'commit']],
  ['a single statement', [`with a as (${LOCAL}) ${OF_TENANT}`]],
])('a local table and one of tenants are not written by %s', (_name, texts) => {
  expect(findingsOf(...texts)).toEqual([FINDING]);
});

test('transactions of two connections are not mixed up', () => {
  const lint = new TransactionLint();
  const [one, other] = [{}, {}];
  for (const session of [one, other]) lint.note(session, BEGIN);
  lint.note(one, LOCAL);
  lint.note(other, OF_TENANT);
  for (const session of [one, other]) lint.note(session, 'commit');
  expect(lint.findings).toEqual([]);
});

test('a finding shows the writing statements, once for each pair of tables', () => {
  const lint = new TransactionLint();
  const session = {};
  for (let round = 0; round < 2; round += 1) {
    for (const text of [BEGIN, 'select 1', OF_TENANT, LOCAL, 'commit']) lint.note(session, text);
  }
  expect(lint.findings).toEqual([[FINDING, `    ${OF_TENANT}`, `    ${LOCAL}`].join('\n')]);
});
