import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { StartError } from '@pipeline/runtime';
import { choosePorts } from '../src/data/ports.ts';

const ANY = { hosted: 0, monitor: 0, sandbox: 0, postgres: 0 };
let server: Server;
let taken: number;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  taken = typeof address === 'object' && address ? address.port : 0;
});
afterEach(() => void server.close());

test('0 is any free port, each another one', async () => {
  const ports = Object.values(await choosePorts(ANY, null));
  expect(new Set(ports).size).toBe(4);
  expect(ports).not.toContain(taken);
});

test('0 is the port of the last start where it is free', async () => {
  const last = await choosePorts(ANY, null);
  expect(await choosePorts(ANY, last)).toEqual(last);
  const moved = await choosePorts(ANY, { ...last, monitor: taken });
  expect(moved).toMatchObject({ hosted: last.hosted, sandbox: last.sandbox });
  expect(moved.monitor).not.toBe(taken);
});

test('a taken port names the variable that moves it', async () => {
  const chosen = choosePorts({ ...ANY, sandbox: taken }, null);
  await expect(chosen).rejects.toThrow(`port ${taken} on 127.0.0.1 is in use; set SANDBOX_PORT to another one`);
  await expect(choosePorts({ ...ANY, sandbox: taken }, null)).rejects.toBeInstanceOf(StartError);
});

test('one port for two servers is refused before anything starts', async () => {
  const chosen = choosePorts({ ...ANY, hosted: 1_999, monitor: 1_999 }, null);
  await expect(chosen).rejects.toThrow('HOSTED_PORT and MONITOR_PORT are both 1999');
});
