import fastifyStatic from "@fastify/static";

export default async function files(app, { settings }) {
  app.register(fastifyStatic, { root: settings.folder, prefix: "/static/" });
}
