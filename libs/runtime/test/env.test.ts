import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { commonEnv, type EnvError, envPort, parseEnv } from '../src/index.ts';

const schema = z.object({
  ...commonEnv,
  PORT: envPort().default(8080),
  DATABASE_URL: z.url(),
  TOKEN: z.string().min(10).optional(),
});

const problemsOf = (env: Record<string, string>) => {
  try {
    parseEnv(schema, env);
    return [];
  } catch (error) {
    return (error as EnvError).problems;
  }
};

describe('parseEnv', () => {
  test('fills in defaults, takes an empty value as absent and ignores other variables', () => {
    const env = parseEnv(schema, { DATABASE_URL: 'postgres://h/d', PORT: '', HOME: '/root' });
    expect(env).toEqual({ LOG_LEVEL: 'info', PORT: 8080, DATABASE_URL: 'postgres://h/d' });
  });

  test('names every bad variable, once, with what would be right', () => {
    expect(problemsOf({ PORT: '70000', LOG_LEVEL: 'loud' })).toEqual([
      'LOG_LEVEL: must be one of fatal, error, warn, info, debug, got "loud"',
      'PORT: must be a whole number from 0 to 65535, got "70000"',
      'DATABASE_URL: must be set',
    ]);
  });

  test.each(['8080x', '-1', '1e3', '0x10', ' 80'])('refuses the port %j', (PORT) => {
    expect(problemsOf({ DATABASE_URL: 'postgres://h/d', PORT })[0]).toMatch(/^PORT: must be a whole number/);
  });

  test('never shows the value of a secret', () => {
    const text = problemsOf({ DATABASE_URL: 'pass word', TOKEN: 'hunter2' }).join('\n');
    expect(text).toContain('TOKEN: ');
    expect(text).not.toMatch(/hunter2|pass word/);
  });
});
