/** Version of the wire contract, published in both OpenAPI documents. */
export const CONTRACT_VERSION = '1.0.0';
