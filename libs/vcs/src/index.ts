export { HostError } from './github/errors.ts';
export { type HostUrls, hostUrls } from './github/host-urls.ts';
export { parseWebhook } from './webhooks/parse.ts';
export { createSignatureCheck } from './webhooks/signature.ts';
