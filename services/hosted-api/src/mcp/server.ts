import type { AuthInfo, McpHttpHandler, McpServer } from '@modelcontextprotocol/server';
import { AppError } from '@pipeline/domain';
import { reportingOutages } from '@pipeline/store';
import manifest from '../../package.json' with { type: 'json' };
import type { ConnectionIdentity } from '../auth/connection-tokens.ts';
import type { ReadContext } from '../context/reads.ts';
import { type AnyReadTool, issueTools, orgTools, type ToolCall } from './tools.ts';

const INSTRUCTIONS =
  'Read-only access to the issues of an organisation that are processed by a pipeline of agents. Call get_bootstrap first to get the repository names. Use explain_issue to find out why an issue does not progress.';

type Sdk = typeof import('@modelcontextprotocol/server');

/** The Model Context Protocol over these reads: Streamable HTTP, without sessions, both generations of the protocol. */
export class McpEndpoint {
  readonly #context: ReadContext;
  #handler: Promise<McpHttpHandler> | undefined;

  constructor(context: ReadContext) {
    this.#context = context;
  }

  async fetch(request: Request, identity: ConnectionIdentity): Promise<Response> {
    // Loaded with the first message: the service starts without it.
    this.#handler ??= import('@modelcontextprotocol/server').then((sdk) => this.#create(sdk));
    const handler = await this.#handler;
    // The token was checked and is not handed on; tools get whom it stands for.
    const authInfo: AuthInfo = {
      token: '',
      clientId: identity.clientId,
      scopes: [...identity.scopes],
      extra: { identity },
    };
    return handler.fetch(request, { authInfo });
  }

  #create(sdk: Sdk): McpHttpHandler {
    return sdk.createMcpHandler(
      ({ authInfo }) => this.#serverFor(sdk, authInfo?.extra?.identity as ConnectionIdentity),
      // Tools never change while the process runs, so there is nothing to subscribe to.
      { maxSubscriptions: 0, keepAliveMs: 0, onerror: (error) => this.#context.log.debug('mcp', { error }) },
    );
  }

  #serverFor(sdk: Sdk, identity: ConnectionIdentity): McpServer {
    const server = new sdk.McpServer({ name: 'pipeline', version: manifest.version }, { instructions: INSTRUCTIONS });
    const call = { context: this.#context, identity };
    for (const tool of [...orgTools, ...issueTools]) {
      const { name, title, description, input, output } = tool;
      const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
      server.registerTool(name, { title, description, inputSchema: input, outputSchema: output, annotations }, (args) =>
        resultOf(call, tool, args),
      );
    }
    return server;
  }
}

async function resultOf(call: ToolCall, tool: AnyReadTool, args: Record<string, unknown>) {
  const { log, storeWatch } = call.context;
  try {
    const run = reportingOutages(storeWatch, tool.run);
    const structuredContent = await run(call, args);
    return { structuredContent, content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }] };
  } catch (error) {
    if (!(error instanceof AppError)) log.error('tool failed', { tool: tool.name, error });
    const message =
      error instanceof AppError
        ? `${error.code}: ${error.message || 'Try again later.'}`
        : 'INTERNAL_ERROR: The tool failed.';
    return { isError: true, content: [{ type: 'text' as const, text: message }] };
  }
}
