export * from './answer-error.ts';
export * from './app-options.ts';
export * from './create-app.ts';
export * from './handler.ts';
export * from './listen.ts';
export * from './login-limit.ts';
export * from './rate-limit.ts';
export * from './service-handlers.ts';
