import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { expect, test } from '@jest/globals';
import { agentOf } from '../src/agents/presets.ts';
import { agentError } from '../src/tasks/agent-error.ts';

const failureOf = (error: RequestError, agent = 'claude') => agentError(error, agentOf(agent), []);

test('the class that an agent sets is not part of the message', () => {
  const error = new RequestError(-32603, 'Internal error', { errorClass: 'permanent', details: 'no such model' });
  expect(failureOf(error)).toMatchObject({
    errorClass: 'permanent',
    message: 'the agent claude failed: Internal error {"details":"no such model"}',
  });
  expect(failureOf(new RequestError(-32603, 'Internal error', { errorClass: 'infra' }))).toMatchObject({
    message: 'the agent claude failed: Internal error',
  });
});

test('a quota that the details name is retried later', () => {
  const error = new RequestError(-32603, 'Internal error', 'rate limit reached');
  expect(failureOf(error)).toMatchObject({
    errorClass: 'quota',
    message: 'the agent claude failed: Internal error "rate limit reached"',
  });
});

test('an agent that is a command is named by the beginning of the command', () => {
  const failed = failureOf(new RequestError(-32603, 'Internal error'), `node ${'x'.repeat(200)}.js`);
  expect(failed).toMatchObject({ message: `the agent node ${'x'.repeat(45)} failed: Internal error` });
});
