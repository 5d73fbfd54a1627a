/** Reads of customers: one file for Jest, so that the API and its store are created once. */
import './plan-reuse.ts';
import './cli-reads.ts';
import './connection-isolation.ts';
import './mcp.ts';
import './browser-changes.ts';
import './browser-isolation.ts';
import './browser-members.ts';
