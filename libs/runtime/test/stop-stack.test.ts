import { describe, expect, test } from '@jest/globals';
import { StopStack } from '../src/index.ts';

describe('StopStack', () => {
  test('stops in reverse order, one after the other, and once', async () => {
    const order: string[] = [];
    const stack = new StopStack();
    for (const name of ['pool', 'loop', 'server']) {
      stack.add(name, async () => {
        order.push(`${name} begins`);
        await null;
        order.push(`${name} ends`);
      });
    }
    await Promise.all([stack.stop(), stack.stop()]);
    expect(order).toEqual(['server begins', 'server ends', 'loop begins', 'loop ends', 'pool begins', 'pool ends']);
  });

  test('goes on past failures and names each part that failed', async () => {
    const stack = new StopStack();
    let stopped = false;
    stack.add('pool', () => {
      stopped = true;
    });
    stack.add('loop', () => Promise.reject(new Error('stuck')));
    stack.add('server', () => {
      throw new Error('gone');
    });
    const failure = (await stack.stop().catch((error: unknown) => error)) as AggregateError;
    expect(stopped).toBe(true);
    expect(failure.errors.map(String)).toEqual([
      'Error: server did not stop cleanly',
      'Error: loop did not stop cleanly',
    ]);
    expect((failure.errors[1] as Error).cause).toEqual(new Error('stuck'));
  });

  test('a part that is added while or after stopping is stopped too', async () => {
    const stack = new StopStack();
    const stopped: string[] = [];
    stack.add('slow', async () => {
      stack.add('late', () => stopped.push('late'));
    });
    await stack.stop();
    stack.add('later', () => stopped.push('later'));
    await stack.stop();
    expect(stopped).toEqual(['late', 'later']);
  });
});
