import { z } from 'zod';

/** A trace id of W3C Trace Context. */
export const TraceId = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .meta({ example: '4bf92f3577b34da6a3ce929d0e0e4736' });

/** The header value of W3C Trace Context, version 00, sampled. */
export const Traceparent = z
  .string()
  .regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  .meta({ example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' });
