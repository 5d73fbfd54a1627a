import type { AnyRoute } from '@pipeline/contract';
import fc from 'fast-check';
import { z } from 'zod';
import type { Credential } from '../target/credentials.ts';
import { messageIn } from '../target/mcp-message.ts';
import type { PlannedCase, PlannedRequest } from '../target/planned-request.ts';
import type { Target } from '../target/target.ts';
import { wounds } from './body-wounds.ts';
import { type KnownValues, valueArbitrary } from './value-arbitrary.ts';

const Tools = z.object({
  result: z.object({ tools: z.array(z.object({ name: z.string(), inputSchema: z.record(z.string(), z.unknown()) })) }),
});
export interface McpTool {
  name: string;
  input: z.ZodType;
}

const messageTo = (route: AnyRoute, method: string, params: object): PlannedRequest => ({
  route,
  params: {},
  query: [],
  headers: {},
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

/** The tools that an endpoint of the Model Context Protocol lists; none when it does not answer. */
export async function listTools(target: Target, route: AnyRoute, credential: Credential): Promise<McpTool[]> {
  const outcome = await target.send(messageTo(route, 'tools/list', {}), credential);
  const parsed = outcome.ok ? Tools.safeParse(messageIn(outcome.answer.body)) : undefined;
  return (parsed?.data?.result.tools ?? []).map(({ name, inputSchema }) => ({
    name,
    input: z.fromJSONSchema(inputSchema as never),
  }));
}

/** Calls of the listed tools with arguments that their schemas accept, and with one argument broken. */
export function toolCalls(route: AnyRoute, tools: readonly McpTool[], known: KnownValues): fc.Arbitrary<PlannedCase> {
  return fc.oneof(
    ...tools.flatMap(({ name, input }) => {
      const call = (given: unknown) => messageTo(route, 'tools/call', { name, arguments: given });
      const valid = valueArbitrary(input, known).map(
        (given): PlannedCase => ({ request: call(given), expectation: { kind: 'tool-call', isValid: true } }),
      );
      const broken = fc
        .tuple(valueArbitrary(input, known), wounds(input))
        .map(([given, wound]) => wound(given))
        .filter((given) => isObject(given) && !input.safeParse(given).success)
        .map((given): PlannedCase => ({ request: call(given), expectation: { kind: 'tool-call', isValid: false } }));
      return [
        { arbitrary: valid, weight: 2 },
        ...(input.safeParse({}).success && Object.keys((input as z.ZodObject).shape ?? {}).length === 0
          ? []
          : [{ arbitrary: broken, weight: 1 }]),
      ];
    }),
  );
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
