import DefaultTheme from 'vitepress/theme';
import ApiReference from './api-reference.vue';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }: { app: { component(name: string, component: unknown): void } }) =>
    app.component('ApiReference', ApiReference),
};
