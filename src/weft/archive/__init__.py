"""Raw pages: captures become WARC records that are durable before anything else happens, and can be read back.

warc (capture → bytes) · member (gzip) · identify (payload type) · store (append, sync, announce, checkpoint) ·
recovery (what a crash left) · announce (messages) · replay (bytes → capture, whole files, foreign ones too)
"""
