import { McpResponse, type Surface } from '@pipeline/contract';
import { messageIn } from '../target/mcp-message.ts';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import type { Answer, Probe } from './probe.ts';
import { ABSENT } from './samples.ts';

const VERSION = '2025-06-18';
const HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': VERSION };

interface Tool {
  name: string;
  description?: string;
  inputSchema: {
    type: string;
    required?: string[];
    properties?: Record<string, { description?: string; enum?: string[] }>;
  };
}

export const mcpChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'postMcp') ? [initializes, describesTools, callsTools, refuses, isStateless] : [];

const mcp = { suite: 'mcp', endpoint: 'postMcp' } as const;

const send = (probe: Probe, message: unknown, headers: Record<string, string> = HEADERS): Promise<Answer> =>
  probe.send('/api/mcp', { method: 'POST', body: JSON.stringify(message), headers });

async function call<T>(
  probe: Probe,
  method: string,
  params: object,
): Promise<{ result?: T; error?: { code: number } }> {
  const answer = await send(probe, { jsonrpc: '2.0', id: 1, method, params });
  mustEqual(`status of ${method}`, answer.status, 200);
  const parsed = McpResponse.safeParse(messageIn(answer.body));
  must(parsed.success, `no JSON-RPC response: ${answer.body.slice(0, 200)}`);
  mustEqual('id', parsed.data.id, 1);
  return parsed.data as { result?: T; error?: { code: number } };
}

const toolsOf = async (probe: Probe): Promise<Tool[]> => {
  const { result } = await call<{ tools: Tool[] }>(probe, 'tools/list', {});
  must(result !== undefined && result.tools.length > 0, 'no tool is listed');
  return result.tools;
};

const initializes: Check = {
  ...mcp,
  name: 'negotiates a protocol version and takes the notification that follows',
  async run(probe) {
    const clientInfo = { name: 'pipeline-contract', version: '1' };
    const { result } = await call<{ protocolVersion: string; capabilities: object }>(probe, 'initialize', {
      protocolVersion: VERSION,
      capabilities: {},
      clientInfo,
    });
    mustEqual('protocolVersion', result?.protocolVersion, VERSION);
    must('tools' in (result?.capabilities ?? {}), 'tools are no capability');
    const { status } = await send(probe, { jsonrpc: '2.0', method: 'notifications/initialized' });
    mustEqual('status of the notification', status, 202);
  },
};

const describesTools: Check = {
  ...mcp,
  name: 'lists tools with a description of every argument',
  async run(probe) {
    for (const { name, description, inputSchema } of await toolsOf(probe)) {
      must(Boolean(description), `tool ${name} has no description`);
      mustEqual(`type of the arguments of ${name}`, inputSchema.type, 'object');
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {}))
        must(Boolean(schema.description), `argument ${argument} of ${name} has no description`);
    }
  },
};

const callsTools: Check = {
  ...mcp,
  name: 'answers a call of every tool',
  async run(probe) {
    for (const { name, inputSchema } of await toolsOf(probe)) {
      const required = inputSchema.required ?? [];
      const given = Object.fromEntries(
        required.map((argument) => [argument, argumentOf(probe, inputSchema, argument)]),
      );
      const { result } = await call<{ content: unknown[]; isError?: boolean }>(probe, 'tools/call', {
        name,
        arguments: given,
      });
      must(result !== undefined && result.isError !== true, `tool ${name} fails: ${JSON.stringify(result)}`);
    }
  },
};

function argumentOf(probe: Probe, { properties }: Tool['inputSchema'], argument: string): string | number {
  const [choice] = properties?.[argument]?.enum ?? [];
  if (choice !== undefined) return choice;
  return /^(?:number|issue)/i.test(argument) ? Number(probe.sample('issue')) : probe.sample('repo');
}

const refuses: Check = {
  ...mcp,
  name: 'refuses batches, unknown methods, and repos of others',
  async run(probe) {
    const one = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    must((await send(probe, [one, one])).status >= 400, 'a batch is accepted');
    const unknown = await call(probe, 'pipeline/contract', {});
    mustEqual('code of an unknown method', unknown.error?.code, -32_601);
    for (const { name, inputSchema } of await toolsOf(probe)) {
      const [argument] = (inputSchema.required ?? []).filter((required) => required === 'repo');
      if (argument === undefined) continue;
      const others = (inputSchema.required ?? []).filter((required) => required !== 'repo');
      const given = Object.fromEntries(others.map((other) => [other, argumentOf(probe, inputSchema, other)]));
      const { result } = await call<{ isError?: boolean }>(probe, 'tools/call', {
        name,
        arguments: { ...given, repo: ABSENT.repo },
      });
      must(result?.isError === true, `tool ${name} answers for ${ABSENT.repo}`);
    }
  },
};

const isStateless: Check = {
  ...mcp,
  name: 'offers no stream of its own',
  async run(probe) {
    for (const method of ['GET', 'DELETE'])
      mustEqual(`status of ${method}`, (await probe.send('/api/mcp', { method, headers: HEADERS })).status, 405);
  },
};
