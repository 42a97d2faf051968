from retinue.chat.routes import audio, chat, conversations, jobs, logs

ROUTES = (chat.routes, audio.routes, jobs.routes, jobs.aliases, conversations.routes, logs.routes)
