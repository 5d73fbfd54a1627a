import { StartError } from '@pipeline/runtime';

/** Endpoint to which finished runs are exported. */
export interface TraceEndpoint {
  /** Takes OTLP over HTTP. */
  url: string;
  headers: Record<string, string>;
  /** `service.name` of the spans. */
  serviceName: string;
}

interface TraceEnv {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_SERVICE_NAME: string;
}

/**
 * Reads the standard variables of OpenTelemetry.
 * @returns null when neither endpoint is set: nothing is exported.
 * @throws StartError for headers that are not `name=value,name=value`.
 */
export function traceEndpoint(env: TraceEnv): TraceEndpoint | null {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/$/, '')}/v1/traces`);
  const headers = headersOf(env.OTEL_EXPORTER_OTLP_HEADERS ?? '');
  return url ? { url, headers, serviceName: env.OTEL_SERVICE_NAME } : null;
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => headerOf(pair)),
  );

/** The value may be percent-encoded, as in W3C Baggage. The message does not contain it: it may be a key. */
function headerOf(pair: string): [string, string] {
  const [name = '', ...rest] = pair.split('=');
  try {
    const value = decodeURIComponent(rest.join('=').trim());
    new Headers([[name.trim(), value]]); // throws for what HTTP does not allow
    if (rest.length > 0) return [name.trim(), value];
  } catch {
    // reported below
  }
  throw new StartError('OTEL_EXPORTER_OTLP_HEADERS: must be name=value, several separated by commas');
}
