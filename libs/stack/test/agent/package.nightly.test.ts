/** pipeline-agent as an installation of its package starts it. */
import { join } from 'node:path';
import { beforeAll, test } from '@jest/globals';
import { installedPackage } from '@pipeline/testing/installed-package';
import { done, folder, openIssue, startAgent, startedStack, writing } from './stack.ts';

let installed: string;

// Before the stack starts: it blocks this process for longer than idle connections live.
beforeAll(() => {
  installed = join(installedPackage('agent', folder), 'node_modules/.bin/pipeline-agent');
});
startedStack();

// The command of docs/agents.md: npm run -s tarball -- agent
test('the package installed from its tarball moves an issue to a merge', async () => {
  const { output } = startAgent(writing('docs/other.md'), 'agent-2', [installed]);
  await done(await openIssue('Another list'), output);
});
