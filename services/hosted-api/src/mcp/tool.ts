import type { z } from 'zod';
import type { ConnectionIdentity } from '../auth/connection-tokens.ts';
import type { HostedContext } from '../context/context.ts';

/** Who calls, and what the tools work with. */
export interface ToolCall {
  context: HostedContext;
  identity: ConnectionIdentity;
}

/** A read as a tool for assistants: the same use case as the REST endpoint of its resource. */
export interface ReadTool<I extends z.ZodObject, O extends z.ZodObject> {
  name: string;
  title: string;
  /** For the assistant that chooses among the tools. */
  description: string;
  input: I;
  output: O;
  /** @throws AppError, which the assistant is told. */
  run(call: ToolCall, args: z.output<I>): Promise<z.input<O>>;
}

/** Its exact types set aside, for a list of different ones. */
export type AnyReadTool = ReadTool<z.ZodObject, z.ZodObject>;

/** An argument that the tool does not have is refused: ignoring it would answer another question than the one asked. */
export const readTool = <I extends z.ZodObject, O extends z.ZodObject>(tool: ReadTool<I, O>): AnyReadTool =>
  ({ ...tool, input: tool.input.strict() }) as unknown as AnyReadTool;
